"""Words of a text as they are written: folded, but not stemmed. Some are common in any text."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from math import ceil
from typing import Final

from vault_agent.text.terms import terms

# Scripts without spaces between words: a word begins and ends anywhere.
_UNSPACED = "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff"
_WORD = rf"[^\W{_UNSPACED}]"
"""A character of a word that has borders."""
_MARKS = re.compile("[\u0300-\u036f\u00ad\u200b-\u200f\u2060\ufe00-\ufe0f\ufeff]+")
_PUNCTUATION = " \t\r\n.,;:!?\"'()[]{}<>«»“”‘’…、。・「」『』（）！？"


def fold_words(text: str) -> str:
    """Return text without differences of case, width and accents."""
    if text.isascii():
        return text.lower()
    plain = _MARKS.sub("", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFC", plain)


def whole_word(literal: str) -> re.Pattern[str] | None:
    """Return a pattern that finds a word or phrase as a whole in folded text.

    In scripts without spaces, its characters must be adjacent, and it has no borders. Returns None
    if the literal has only punctuation.
    """
    words = fold_words(literal).strip(_PUNCTUATION).split()
    if not words:
        return None
    first = rf"(?<!{_WORD})" if re.match(_WORD, words[0]) else ""
    last = rf"(?!{_WORD})" if re.match(_WORD, words[-1][-1]) else ""
    return re.compile(first + r"\s+".join(map(re.escape, words)) + last)


def tokens_of(text: str) -> int:
    """Return an estimate of a text's tokens, which is above those of common tokenizers."""
    others = len(text) - len(text.encode("ascii", "ignore"))
    return ceil((len(text) - others) / 3.5 + 1.25 * others)


# --- common words ---------------------------------------------------------------------------------

# Words that most prompts of coding sessions have, so that they tell nothing about a subject: common
# words of English and of prompts in other languages, of politeness, and those of programming that
# nearly every prompt has. A vault is no measure of them: "add" may be rare in it. Words such as
# "queue" or "parser" are not among them: a project may be about these.

_FUNCTION = """
a about above across after against all along also although am among an and another any are as at be
because been before being below between both but by can cannot could did do does doing done down
during each either else every few for from had has have having he her here hers herself him himself
his how i if in into is it its itself just least less many may me might more most much must my
myself neither no nor not of off on one only onto or other our ours ourselves out over own per same
shall she should since so some such than that the their theirs them themselves then there these they
this those though through to too under unless until up upon us very via was we were what when where
whether which while who whom whose why will with within without would yet you your yours yourself
"""
"""Words of English that build sentences and name nothing."""
_ENGLISH = """
able actually add added adding adds afterwards again ago ahead allow allowed allows almost alone
already always anybody anymore anyone anything anyway anywhere apart appear appears around ask asked
asking asks available away back bad basically became become began begin beginning behave behaves
behaviour behavior behind best better beyond big bit bottom bring call called calling calls came
cant care careful case cases cause certain chance change changed changes changing check checked
checking checks choose clean clear clearly close come comes coming common complete completely couple
course current currently cut day days decide deep described didnt differ difference different
directly doesnt dont earlier early easily easy end ends enough entire especially etc even ever
everybody everyone everything everywhere exact exactly example except exist existing exists expect
expected explain extra fact fails far fast fewer final finally find finds fine finish finished first
five fix fixed fixes follow following follows forget four front full fully further gave general
generally get gets getting give given gives giving go goes going gone good got great guess half hand
handle handled handles happen happened happens hard hello help helps hence hey hi high hold home
hope hour hours however id idea ignore im immediately important indeed inside instead isnt issue ive
job keep keeps kept kind knew know known knows large last late later latest lead leave leaves left
let lets like likely little ll long longer look looked looking looks lot lots low made main mainly
make makes making matter maybe mean means meant mind mine minute minutes miss missing moment month
months morning mostly move moved near nearly need needed needs never new next nice night nobody none
normal note nothing now number often oh ok okay old older once ones open order others otherwise part
particular parts past people perhaps place please plus point possible possibly present pretty
previous probably problem problems properly provide put question quick quickly quite rather re read
ready real really reason recent related remember rest result results return returns right run
running runs safe said saw say says second seconds see seem seems seen self send sent set sets seven
several short show showed shown shows side similar simple simply single six small somebody somehow
someone something sometimes somewhere soon sorry sort start started starting starts state stay step
steps still stop stopped stops strange suggest support sure take taken takes taking talk tell tells
ten thank thanks thats therefore thing things think third thought three thus time times today
together tomorrow tonight took top toward towards tried tries true try trying turn turned two type
understand usage use used useful user users uses using usual usually ve want wanted wants wasnt way
ways week weeks well went whatever whats whenever wherever whole wish won wont work worked working
works wouldnt write writes writing wrong wrote year years yes yesterday continue continued continues
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

_UNSPACED_PHRASES = """
ください してください して下さい します しました しません したい できます できません です でした
ます ません ました なります なりました ありがとう お願い お願いします この その あの これ それ
ここ そこ から まで ので のに こと もの よう ため とき ところ について に関して として という
ている ています いて さい いい 場合 必要 確認 追加 修正 変更 実装 作成 使って 教えて 直して 見て
調べて もう まだ だけ など 请 一下 这个 那个 什么 怎么 可以 需要 我们 你们 他们 现在 然后 以及
因为 所以 如果 没有 不要 的话 帮我 看看 添加 修改 检查 使用 一个 这样 应该 还是 已经 时候
"""
"""The same of languages without spaces, where each pair of characters counts as a word."""

COMMON: Final = frozenset(
    map(fold_words, f"{_FUNCTION} {_ENGLISH} {_PROGRAMMING} {_OTHERS}".split())
)
_PAIRS: Final = frozenset(
    phrase[at : at + 2] for phrase in _UNSPACED_PHRASES.split() for at in range(len(phrase) - 1)
)
_ANY_WORD = re.compile(r"[^\W_]+")
_HIRAGANA = re.compile("[\u3041-\u309f]+")


def content_words(text: str) -> set[str]:
    """Return the words of a text that may name a subject, folded.

    In scripts without spaces, each pair of characters counts as a word.
    """
    words: set[str] = set()
    text = without_hiragana(text).replace("'", "").replace("’", "")
    for word in _ANY_WORD.findall(fold_words(text)):
        if word.isascii() or not _is_unspaced(word):
            words.add(word)
        else:
            words.update(word[place : place + 2] for place in range(len(word) - 1))
    return {word for word in words if len(word) > 1 and word not in COMMON and word not in _PAIRS}


def without_hiragana(text: str) -> str:
    """Return a text without the script of Japanese in which endings and particles are written.

    What a text is about stands in kanji, katakana and Latin letters.
    """
    return _HIRAGANA.sub(" ", text)


@cache
def common_terms() -> frozenset[str]:
    """Return the terms of the common words, as texts are searched by."""
    return frozenset(terms(" ".join((*COMMON, *_UNSPACED_PHRASES.split()))))


@cache
def function_terms() -> frozenset[str]:
    """Return the terms of the words of English that build sentences, as texts are searched by."""
    return frozenset(terms(_FUNCTION))


def _is_unspaced(word: str) -> bool:
    return any(
        "\u0e01" <= character <= "\u9fff" or "\uac00" <= character <= "\ud7a3" for character in word
    )
