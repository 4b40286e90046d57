# Run by ./start in the shell of the service: makes the empty workspaces whose slugs WORKSPACES names, for the people of the tests, and
# prints their API keys as lines of a file with variables.
import os

from plane.db.models import APIToken, User, Workspace, WorkspaceMember

ROLES = {"ada": 20, "bob": 15, "eve": 5}  # an admin, a member, a guest; gus is in no workspace
KEYS = {
    "ada": ("PLANE_API_KEY", "PLANFORM_REAL_ADMIN"),
    "bob": ("PLANE_COLLEAGUE_API_KEY", "PLANFORM_REAL_MEMBER"),
    "eve": ("PLANFORM_REAL_GUEST",),
    "gus": ("PLANFORM_REAL_OUTSIDER",),
}

people = {
    name: User.objects.get_or_create(email=name + "@example.com", defaults={"username": name, "display_name": name})[0]
    for name in KEYS
}
for slug in os.environ["WORKSPACES"].split(","):
    workspace = Workspace.objects.create(name=slug, slug=slug, owner=people["ada"], organization_size="2-10")
    for name, role in ROLES.items():
        WorkspaceMember.objects.create(workspace=workspace, member=people[name], role=role)
for name, variables in KEYS.items():
    key = APIToken.objects.create(user=people[name], label="tests").token
    for variable in variables:
        print("%s=%s" % (variable, key))
