"""The prompt that a new project starts from: it uses every name that templates have."""

SYSTEM = """\
You answer questions about a text.{% if persona %} Answer as a person like this:
{% for name, value in persona.items() %}{{ name }}: {{ value }}
{% endfor %}{% endif %}"""
USER = """\
{% for field, value in item.items() %}
{{ field }}: {{ value }}
{% endfor %}

{% if condition %}
{% for name, value in condition.items() %}
{{ name }}: {{ value }}
{% endfor %}

{% endif %}
{% for question in questions %}
{{ question.text }}
{% for option in question.options %}
{{ option.letter }}. {{ option.text }}
{% endfor %}

{% endfor %}
{{ answer_format }}"""
