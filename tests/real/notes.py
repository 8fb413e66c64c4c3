"""Notes, and questions that share no word with the note that answers them."""

NOTES = {
    "Sourdough": "Feed the starter with flour and water the evening before, and let it rise.",
    "Boiler": "The heating engineer replaced the pump. Radiators are warm again.",
    "Lease": "The landlord wants three months' notice before the tenant moves out.",
    "Hike": "We climbed to the ridge, slept in the hut and came down along the stream.",
    "Backup": "Copy the database to the external disk every night and try a restore monthly.",
    "Vet": "The kitten had her second vaccination; the doctor will see her again in May.",
    "Choir": "The altos come in two bars late; practise the last page slowly.",
    "Taxes": "Receipts for the home office go into the blue folder until the return is filed.",
}
PARAPHRASES = {
    "how do I bake bread at home": "Sourdough",
    "central plumbing repair because it was cold indoors": "Boiler",
    "ending a rental contract": "Lease",
    "mountain trip": "Hike",
    "disaster recovery for stored records": "Backup",
    "animal clinic appointment for my cat": "Vet",
    "singing rehearsal": "Choir",
    "income declaration paperwork": "Taxes",
}
