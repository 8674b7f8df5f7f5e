"""Before the model: which tools it sees this turn."""

from tooldrawer.assembly.assemble import Assembly, assemble
from tooldrawer.assembly.benefit import BenefitModel
from tooldrawer.assembly.listing import Listing
from tooldrawer.assembly.policy import CORE, AssemblyPolicy, Enabled

__all__ = [
    "Assembly",
    "AssemblyPolicy",
    "BenefitModel",
    "CORE",
    "Enabled",
    "Listing",
    "assemble",
]
