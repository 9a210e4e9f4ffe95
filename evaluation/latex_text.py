"""Words as LaTeX sets them. Pure."""

import re
import unicodedata

# Letters that look like Latin ones have no command.
_GREEK = {
    **{"α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "varepsilon", "ζ": "zeta", "η": "eta"},
    **{"θ": "theta", "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "π": "pi"},
    **{"ρ": "rho", "ς": "varsigma", "σ": "sigma", "τ": "tau", "υ": "upsilon", "φ": "varphi", "χ": "chi"},
    **{"ψ": "psi", "ω": "omega", "Γ": "Gamma", "Δ": "Delta", "Θ": "Theta", "Λ": "Lambda", "Ξ": "Xi", "Π": "Pi"},
    **{"Σ": "Sigma", "Φ": "Phi", "Ψ": "Psi", "Ω": "Omega"},
}
_ESCAPED = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "|": r"\textbar{}"},
    **{"<": "$<$", ">": "$>$", "−": "$-$", "±": r"$\pm$", "×": r"$\times$", "·": r"$\cdot$", "→": r"$\to$"},
    **{"≤": r"$\leq$", "≥": r"$\geq$", "≈": r"$\approx$", "²": "$^2$", "³": "$^3$", "–": "--", "—": "---"},
    **{"“": "``", "”": "''", "‘": "`", "’": "'", "…": r"\dots{}", "\u00a0": "~", "\u2009": r"\,", "\u202f": r"\,"},
    **{letter: f"$\\{name}$" for letter, name in _GREEK.items()},
}
_SPECIAL = re.compile("|".join(map(re.escape, _ESCAPED)))
_CONTROL = re.compile(r"[\x00-\x20\x7f-\x9f]+")  # TeX refuses some of them, and two ends of a line would be a paragraph
_LATIN = "\u024f"  # the last letter that pdfLaTeX can set


def escaped(text: str) -> str:
    """The text in one line, with what LaTeX would read as commands written out.

    >>> print(escaped("50 % of A_1 & B: κ ≥ −0.2"))
    50 \\% of A\\_1 \\& B: $\\kappa$ $\\geq$ $-$0.2
    """
    line = _CONTROL.sub(" ", unicodedata.normalize("NFC", text))
    return _SPECIAL.sub(lambda found: _ESCAPED[found[0]], line)


def foreign(text: str) -> bool:
    """Whether escaped text has letters for which pdfLaTeX has no font, such as those of other scripts.

    >>> foreign("né à Łódź"), foreign("東京")
    (False, True)
    """
    return any(letter > _LATIN for letter in unicodedata.normalize("NFC", text))
