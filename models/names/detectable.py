"""Which names are searched for in a text: rules of length, case and frequency, the same for every knowledge base.

1. *Length.* A name has at least three letters, a symbol (a capital beyond its first letter) at least two.
2. *Case.* A symbol of up to five letters and digits matches only in its own case ("AIDS" is not "aids"), with an
   optional plural "s". A short ordinary word does not match capitals ("ACT" is not "act").
3. *Frequency.* Function words and common words of English are not mentions although some are names ("lead", "is",
   "same", "rest"), nor are generic terms at the top of a branch ("disease", "drugs", "proteins"), nor units and
   statistics ("kg", "SD"). Words whose common meaning is the entity ("pain", "death", "gold") are searched.
"""

from __future__ import annotations

SYMBOL = 5
LONG = 20  # longer names pass all rules
_FUNCTION = """
a about above after again all also although am among an and another any apart are as at be because been before being
below between both but by can cannot could did do does doing down due during each either ever few for from further had
has have having he her here hers him his how i if in included including into is it its itself just may me might more
most must my neither no nor not now of off on once one only or other ought our out over own per rather same shall she
should since so some such than that the their them then there these they this those through thus to too two under
until up upon us very via was we well were what when where which while who whom whose why will with within without
would yes yet you your
"""
_COMMON = """
act activity age aged aim air alcohols all animal animals answer area arm art back ban bar base bat bed bird birds
body book box boy boys brand call car case cases cat cats cause cell cells change chart child children clock cod
community condition conditions control cow cows culture dark date day days decision dog dogs dose ear ears earth end
ends evidence eye eyes face fact family fast fat fats feed field film fire fish flash flower fly food foods foot force
form free fruit function game gene genes girl girls goal good grade group growth hand hands head heart help here high
hip home horse host hour house human humans ice idea impact injection injections insight joint key kit lab lack lamp
land large last lead leads leg life light like line lines list litter living long low lung main male man map mark mass
may mean means measure meat men method mice middle mind model models mouse name need network new note old open order
other paper part parts patient patients people person pet place plan plant plants point pool power probe product
program rat rate rats rest result results right ring risk role room root rows run sage sample sand score sea season
section seed self set sex ship sign signs site size smoke sound source space spring star state states stem step stone
strain stress study subject subjects sun support symptom symptoms system table tail task taste team term test tests
text time tip tissue tissues tool top total touch trap tree trial unit units up use user value view wall war watch
water wave way wheat wheel white wild wind woman women wood word words work world year years young zone
"""
_GENERIC = """
abnormalities acid acids agent agents analogue analogues antibodies antibody antigens chemical chemicals complication
complications compound compounds defect defects deficiency disease diseases disorder disorders drug drugs effect
effects element elements enzyme enzymes extract extracts factor factors illness illnesses infant infants inhibitor
inhibitors injury ion ions lesion lesions ligand ligands medication medications metal metals mixture molecule
molecules peptide peptides pharmaceutical pharmaceuticals polymer polymers protein proteins reagent reagents receptor
receptors salt salts sickness solution solutions solvent solvents steroidal substance substances syndrome syndromes
therapeutic trait
"""
_UNITS = """
bpm cfu ci cm day dl fl gy hr hz iqr iu kb kcal kda kg khz km l lb mbq mci meq mg mhz min ml mm mmhg mmol mol ms msec
mu mv ng nm nmol od or pg pm pmol ppb ppm rpm rr sd sec sem ug um
"""
UNUSABLE = frozenset([*_FUNCTION.split(), *_COMMON.split(), *_GENERIC.split(), *_UNITS.split()])
_FUNCTION_WORDS = frozenset(_FUNCTION.split())


def is_usable(name: str) -> bool:
    """Whether a name of the knowledge base may be searched for."""
    if len(name) > LONG:
        return True
    letters = sum(character.isalpha() for character in name)
    if not name.isascii() and letters and not any(character.isascii() and character.isalpha() for character in name):
        return True  # in other scripts a single character can be a word
    return letters >= (2 if is_symbol(name) else 3) and name.lower() not in UNUSABLE


def is_usable_memory(surface: str) -> bool:
    """Whether a remembered mention may be searched for: only function words are left out, since a curator marked it."""
    return any(character.isalpha() for character in surface) and surface.lower() not in _FUNCTION_WORDS


def is_symbol(name: str) -> bool:
    """Whether it is short with a capital after the first letter, such as "AIDS" or "IL-2"; "Na+" counts too."""
    return len(name) <= LONG and name[1:] != name[1:].lower() and len(_bare(name)) <= SYMBOL


def case_fits(name: str, quoted: str) -> bool:
    """Rule 2: whether ``quoted`` may mean ``name``; they are equal except for case and plural."""
    wanted, there = _bare(name), _bare(quoted)
    if is_symbol(name) or len(wanted) <= 2:
        return there in (wanted, wanted + "s")
    shouted = 1 < len(there) <= SYMBOL and there.isupper() and there.isascii()
    return not shouted or wanted == there


def _bare(text: str) -> str:
    return "".join(character for character in text if character.isalnum())
