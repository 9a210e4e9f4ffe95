"""A study's questions and all it says in Arabic: a choice with a follow-up, and two short scales."""

ACTIONS = [
    {"code": "culture", "text_field": "option_culture"},
    {"code": "preference", "text_field": "option_personal"},
    {"code": "neither", "text": "Neither"},
]
SCALE = {"kind": "scale", "low_label": "Not at all", "high_label": "Very"}
QUESTIONS = [
    {"kind": "choice", "code": "personal", "text": "What would you do?", "options": ACTIONS},
    {
        "kind": "text",
        "code": "missing",
        "text": "What is missing?",
        "show_if": {"question": "personal", "any_of": ["neither"]},
    },
    {**SCALE, "code": "clear", "text": "How clear is the situation?"},
    {**SCALE, "code": "usual", "text": "How usual is it where you live?"},
]
ENDS = {"low_label": "أبدًا", "high_label": "جدًا"}
ARABIC = {
    "texts": {
        "title": "عادات يومية",
        "consent": "نحفظ **إجاباتك**.",
        "instructions": "اقرأ كل موقف.",
        "debrief": "كان هذا عن العادات.",
    },
    "questions": {
        "country": {
            "text": "أين تعيش؟",
            "reason": "نقارن الإجابات بين البلدان.",
            "options": {"United Kingdom": "المملكة المتحدة", "Brazil": "البرازيل"},
        },
        "age_group": {"text": "كم عمرك؟", "options": {"younger": "18 إلى 39", "older": "40 أو أكثر"}},
        "colour": {
            "text": "لتبيّن أنك قرأت هذا اختر الأزرق.",
            "options": {"red": "أحمر", "blue": "أزرق", "green": "أخضر"},
        },
        "personal": {
            "text": "ماذا كنت ستفعل؟",
            "options": {"culture": "أفعل المعتاد", "preference": "أفعل ما أحب", "neither": "لا هذا ولا ذاك"},
        },
        "missing": {"text": "ما الذي ينقص؟"},
        "clear": {"text": "ما مدى وضوح الموقف؟", **ENDS},
        "usual": {"text": "ما مدى اعتياده حيث تعيش؟", **ENDS},
    },
    "headings": {"expectation": "المعتاد هناك"},
}
