"""Notes, and paraphrases that share no word with their notes."""

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
    "central plumbing repair for a cold house": "Boiler",
    "ending a rental contract": "Lease",
    "mountain trip": "Hike",
    "disaster recovery for stored records": "Backup",
    "animal clinic appointment for my cat": "Vet",
    "singing rehearsal": "Choir",
    "income declaration paperwork": "Taxes",
}

EVERYDAY = {
    "Monday": "It was a day for lists: what comes first, and who is at the desk with me.",
    "Tuesday": "A call with the printer because it was out of toner; for now all is by hand.",
    "Wednesday": "A letter for my sister; it was in a drawer at the end of the hall.",
    "Thursday": "It was raining for hours, and a pile of old cables was on the floor.",
    "Friday": "Lunch at the market. A friend was there because it was her day off.",
    "Saturday": "My shelf is at last on the wall, with a level at hand and a pencil for holes.",
    "Sunday": "A long walk for once. It was windy at the pier, and dark at four.",
}
"""What any vault is full of, so that words like "a" and "for" are common, as they are."""
