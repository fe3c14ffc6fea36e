"""All kinds of pages, by key."""

from __future__ import annotations

from assay_worlds.workplace.text.asset import ASSET
from assay_worlds.workplace.text.committee import COMMITTEE
from assay_worlds.workplace.text.course import COURSE
from assay_worlds.workplace.text.customer import CUSTOMER
from assay_worlds.workplace.text.incident import INCIDENT
from assay_worlds.workplace.text.person import PERSON
from assay_worlds.workplace.text.policy import POLICY
from assay_worlds.workplace.text.procedure import PROCEDURE, STEPS
from assay_worlds.workplace.text.product import PRODUCT
from assay_worlds.workplace.text.project import PROJECT
from assay_worlds.workplace.text.release import RELEASE
from assay_worlds.workplace.text.service import SERVICE
from assay_worlds.workplace.text.site import SITE
from assay_worlds.workplace.text.talk import MEMO, MINUTES, THREAD
from assay_worlds.workplace.text.team import TEAM
from assay_worlds.workplace.text.vendor import VENDOR

_ALL = (
    *(PERSON, TEAM, SERVICE, PRODUCT, PROJECT, VENDOR, CUSTOMER, POLICY, PROCEDURE, RELEASE, INCIDENT, ASSET),
    *(COURSE, SITE, COMMITTEE, MINUTES, MEMO, THREAD),
)
KINDS = {kind.key: kind for kind in _ALL}
STEP_PATTERNS = STEPS
FILL = MEMO.key
