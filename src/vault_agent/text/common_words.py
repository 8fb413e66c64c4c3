"""Words that most prompts of coding sessions have, so that they tell nothing about a subject.

They are common words of English and of prompts in other languages, of politeness, and those of
programming that nearly every prompt has. A vault is no measure of them: "add" may be rare in it.
Words such as "queue" or "parser" are not among them: a project may be about these.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from vault_agent.text.terms import terms
from vault_agent.text.words import fold_words

_ENGLISH = """
a able about above across actually add added adding adds after afterwards again against ago ahead
all allow allowed allows almost alone along already also although always am among an and another
any anybody anymore anyone anything anyway anywhere apart appear appears are around as ask asked
asking asks at available away back bad basically be became because become been before began begin
beginning behave behaves behaviour behavior behind being below best better between beyond big bit
both bottom bring but by call called calling calls came can cannot cant care careful case cases
cause certain chance change changed changes changing check checked checking checks choose clean
clear clearly close come comes coming common complete completely could couple course current
currently cut day days decide deep described did didnt differ difference different directly do
does doesnt doing done dont down during each earlier early easily easy either else end ends enough
entire especially etc even ever every everybody everyone everything everywhere exact exactly
example except exist existing exists expect expected explain extra fact fails far fast few fewer
final finally find finds fine finish finished first five fix fixed fixes follow following follows
for forget four from front full fully further gave general generally get gets getting give given
gives giving go goes going gone good got great guess had half hand handle handled handles happen
happened happens hard has have having he hello help helps hence her here hey hi high him his hold
home hope hour hours how however i id idea if ignore im immediately important in indeed inside
instead into is isnt issue it its itself ive job just keep keeps kept kind knew know known knows
large last late later latest lead least leave leaves left less let lets like likely little ll long
longer look looked looking looks lot lots low made main mainly make makes making many matter may
maybe me mean means meant might mind mine minute minutes miss missing moment month months more
morning most mostly move moved much must my myself near nearly need needed needs neither never new
next nice night no nobody none nor normal not note nothing now number of off often oh ok okay old
older on once one ones only onto open or order other others otherwise our out over own part
particular parts past people per perhaps place please plus point possible possibly present pretty
previous probably problem problems properly provide put question quick quickly quite rather re
read ready real really reason recent related remember rest result results return returns right run
running runs safe said same saw say says second seconds see seem seems seen self send sent set
sets seven several shall she short should show showed shown shows side similar simple simply since
single six small so some somebody somehow someone something sometimes somewhere soon sorry sort
start started starting starts state stay step steps still stop stopped stops strange such suggest
support sure take taken takes taking talk tell tells ten than thank thanks that thats the their
them then there therefore these they thing things think third this those though thought three
through thus time times to today together tomorrow tonight too took top toward towards tried tries
true try trying turn turned two type under understand unless until up upon us usage use used
useful user users uses using usual usually ve very via want wanted wants was wasnt way ways we
week weeks well went were what whatever whats when whenever where wherever whether which while who
whole whom whose why will wish with within without won wont work worked working works would
wouldnt write writes writing wrong wrote year years yes yesterday yet you your yours yourself
continue continued continues
"""
_PROGRAMMING = """
bug bugs code coded comment comments commit commits debug doc docs documentation error errors fail
failed failing failure failures feature features file files function functions implement
implementation improve issues lint linter merge project pull push py refactor refactored refactoring
repo repository review task tasks test tested testing tests todo tooling typo
"""
_OTHERS = """
aber alle alles als also am an auch auf aus bei beim bin bis bitte da damit danke dann das dass
dein dem den der des die dies diese diesem diesen dieser dieses doch drei du ein eine einem einen
einer eines einfach er erst es etwas fehler für ganz geht gibt gut habe haben hat hier ich ihr im
immer in ins ist ja jetzt kann kein keine können kurz machen mal man mehr mein mir mit nach nein
neu neue nicht nichts noch nun nur ob oder ohne schon sehr sein seite sich sie sind so soll sollen
sonst statt über um und uns unter vom von vor war warum was wenn werden wie wieder wir wird wo zu
zum zur zwei au avec ce ces cette comme dans de elle en est et faire il je la le les leur mais ne
nous on ou par pas plus pour que qui sans sont sur tu un une vous algo como con cuando del desde
donde el ella esta este esto hay las lo los más me mi muy no nos para pero por porque se ser si
sin son su también una uno y ya ください して する した します しました この その あの これ それ
から まで ので です ます こと もの よう ため
"""

COMMON: Final = frozenset(map(fold_words, f"{_ENGLISH} {_PROGRAMMING} {_OTHERS}".split()))
_WORD = re.compile(r"[^\W_]+")


def content_words(text: str) -> set[str]:
    """Return the words of a text that may name a subject, folded.

    In scripts without spaces, each pair of characters counts as a word.
    """
    found: set[str] = set()
    for word in _WORD.findall(fold_words(text.replace("'", "").replace("’", ""))):
        if word.isascii() or not _is_unspaced(word):
            found.add(word)
        else:
            found.update(word[place : place + 2] for place in range(len(word) - 1))
    return {word for word in found if len(word) > 1 and word not in COMMON}


@cache
def common_terms() -> frozenset[str]:
    """Return the terms of the common words, as texts are searched by."""
    return frozenset(terms(" ".join(COMMON)))


def _is_unspaced(word: str) -> bool:
    return any("\u0e01" <= each <= "\u9fff" or "\uac00" <= each <= "\ud7a3" for each in word)
