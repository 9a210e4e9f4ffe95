"""Forms of the log-in, new project, members and tokens pages."""

from django import forms
from django.contrib.auth.forms import AuthenticationForm, UsernameField

from projects.models import ApiToken, Project, Role, User


class LoginForm(AuthenticationForm):
    """Refuses names that nobody can have before anything looks them up or counts them as attempts."""

    username = UsernameField(max_length=150, widget=forms.TextInput(attrs={"autofocus": True}))


class ProjectForm(forms.Form):
    name = forms.CharField(max_length=200)
    description = forms.CharField(
        required=False, widget=forms.Textarea(attrs={"rows": 3}), help_text="What you want to find out, in a sentence."
    )


class MemberForm(forms.Form):
    username = forms.CharField(
        max_length=150,
        help_text="They must have a login here. Whoever runs this installation makes one: manage.py add_user NAME.",
    )
    role = forms.ChoiceField(choices=Role.choices, initial=Role.ANNOTATOR)

    def __init__(self, *args: object, project: Project, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.project = project

    def clean_username(self) -> User:
        name = self.cleaned_data["username"].strip()
        user = User.objects.filter(username=name, is_active=True).first()
        if user is None:
            raise forms.ValidationError(f"Nobody has the username {name}; ask for their exact username.")
        if self.project.memberships.filter(user=user).exists():
            raise forms.ValidationError(f"{name} is a member already; change the role in the table.")
        return user


class RoleForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices)


class TokenForm(forms.Form):
    name = forms.CharField(max_length=100, help_text="What it is for, for example the notebook that will use it.")
    scopes = forms.MultipleChoiceField(
        choices=ApiToken.Scope.choices, initial=[ApiToken.Scope.READ], widget=forms.CheckboxSelectMultiple
    )
