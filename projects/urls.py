from django.contrib.auth import views as auth_views
from django.urls import path

from projects import member_views, token_views, views
from projects.forms import LoginForm

urlpatterns = [
    path("", views.home, name="home"),
    path("projects/", views.projects, name="projects"),
    path("projects/new/", views.project_new, name="project_new"),
    path("login/", auth_views.LoginView.as_view(form_class=LoginForm, redirect_authenticated_user=True), name="login"),
    path("logout/", auth_views.LogoutView.as_view(), name="logout"),
    path("password/", views.PasswordChange.as_view(), name="password_change"),
    path("styleguide/", views.styleguide, name="styleguide"),
    path("p/<slug:slug>/", views.project, name="project"),
    path("p/<slug:slug>/members/", member_views.members, name="members"),
    path("p/<slug:slug>/members/<int:pk>/role/", member_views.change_role, name="member_role"),
    path("p/<slug:slug>/members/<int:pk>/remove/", member_views.remove, name="member_remove"),
    path("p/<slug:slug>/tokens/", token_views.tokens, name="tokens"),
    path("p/<slug:slug>/tokens/<int:pk>/revoke/", token_views.revoke, name="token_revoke"),
]
