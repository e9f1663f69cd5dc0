# Inside the service a client reads answers as the values of the service; mypy of the tree is told so here.
from api.client.models import *
