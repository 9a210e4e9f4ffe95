"""Which language a text is in, by the small words that no text of a language goes without. Offline and deterministic.

Meant for titles and articles of some sentences; a few words tell little, and then nothing is claimed.
"""

import re

_WORD = re.compile(r"[^\W\d_]+")
_SMALL_WORDS = {
    "en": "the of and to in a is that it for was with as on be by at this are from have not they or has but will an "
    "were which their been who more its over after than about into out up says said how why what when you we your",
    "de": "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er "
    "hat dass sie nach wird bei einer um am sind noch wie einem über so zum war haben nur oder aber vor zur bis mehr",
    "fr": "de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il sont la avec son "
    "aux cette d l ou mais ont été elle nous leur comme ses être sans deux",
    "es": "de la que el en y a los se del las un por con no una su para es al lo como más o pero sus le ha me si sin "
    "sobre este ya entre cuando todo esta ser son dos también fue había era muy hasta desde",
    "pt": "de a o que e do da em um para é com não uma os no se na por mais as dos como mas foi ao ele das tem à seu "
    "sua ou ser quando muito há nos já está eu também só pelo pela até isso",
    "it": "di e il la che in a per un è del si le da non con i una sono della dei al come nel più ha anche lo se alla "
    "ma gli delle dal suo questo nella essere o degli ai",
    "nl": "de en van het een in is dat op te zijn voor met die niet aan er om ook als dan maar bij nog uit door over "
    "ze werd wordt naar heeft hij kan meer deze worden tot hun",
    "sv": "och i att det som en på är av för med till den har de inte om ett han men var jag sig från vi så kan när år "
    "nu under också efter eller nu där",
    "pl": "w i na z się do nie to że jest o po jak od za przez dla są co ale który tym oraz był już być tylko jego "
    "może ze tego przy które",
    "tr": "ve bir bu da de için ile olarak çok daha olan gibi kadar sonra ne var değil o en ancak göre ise veya ama",
    "id": "yang dan di dengan untuk dari pada ini dalam tidak akan itu ke oleh juga ada karena bisa lebih sudah telah "
    "mereka atau saat kata para",
}
_SETS = {language: frozenset(words.split()) for language, words in _SMALL_WORDS.items()}


def language_shares(text: str) -> dict[str, float]:
    """The share of the text's words that are small words of each language, from high to low; {} without a word.

    >>> list(language_shares("The schools of the city will open."))[0]
    'en'
    """
    words = _WORD.findall(text.lower())
    if not words:
        return {}
    shares = {language: sum(word in small for word in words) / len(words) for language, small in _SETS.items()}
    return dict(sorted(shares.items(), key=lambda pair: -pair[1]))


def language_of(text: str, *, least: float = 0.1) -> tuple[str, float]:
    """The language with the highest share and that share; "" where no share reaches `least`, as in another script.

    >>> language_of("Die Schulen der Stadt werden nicht vor Mai öffnen.")[0]
    'de'
    >>> language_of("新冠疫情")
    ('', 0.0)
    """
    language, share = next(iter(language_shares(text).items()), ("", 0.0))
    return (language, share) if share >= least else ("", share)
