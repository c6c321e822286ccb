import { readNumber } from '../../core/typed-number.js';

/**
 * Calling codes, each with the region that has most of its numbers (ITU-T E.164). Example: `226BF` is Burkina Faso. A code has
 * one to three digits.
 */
const REGIONS = new Map(
  (
    '1US7RU20EG27ZA30GR31NL32BE33FR34ES36HU39IT40RO41CH43AT44GB45DK46SE47NO48PL49DE51PE52MX53CU54AR55BR56CL57CO58VE60MY61AU62ID63PH64NZ65SG66TH81JP82KR84VN86CN90TR91IN92PK93AF94LK95MM98IR' +
    '211SS212MA213DZ216TN218LY220GM221SN222MR223ML224GN225CI226BF227NE228TG229BJ230MU231LR232SL233GH234NG235TD236CF237CM238CV239ST240GQ241GA242CG243CD244AO245GW248SC249SD250RW251ET252SO253DJ254KE255TZ256UG257BI258MZ260ZM261MG262RE263ZW264NA265MW266LS267BW268SZ269KM' +
    '291ER297AW299GL350GI351PT352LU353IE354IS355AL356MT357CY358FI359BG370LT371LV372EE373MD374AM375BY376AD377MC380UA381RS382ME383XK385HR386SI387BA389MK420CZ421SK423LI' +
    '501BZ502GT503SV504HN505NI506CR507PA508PM509HT590GP591BO592GY593EC594GF595PY596MQ597SR598UY599CW670TL673BN675PG676TO677SB678VU679FJ685WS687NC689PF' +
    '852HK853MO855KH856LA880BD886TW960MV961LB962JO963SY964IQ965KW966SA967YE968OM970PS971AE972IL973BH974QA975BT976MN977NP992TJ993TM994AZ995GE996KG998UZ'
  )
    .match(/\d+[A-Z]{2}/g)
    ?.map((each): [string, string] => [each.slice(0, -2), each.slice(-2)]),
);

/** Returns the calling code of a number and its region. If the code is not known, `code` is the first three digits. */
export function callingCodeOf(number: string): { readonly code: string; readonly region: string | undefined } {
  for (const length of [3, 2, 1]) {
    const code = number.slice(0, length);
    const region = REGIONS.get(code);
    if (region !== undefined) return { code, region };
  }
  return { code: number.slice(0, 3), region: undefined };
}

/** Returns a number in the form that people write: `+226 70 11 22 33`. Other texts are returned unchanged. */
export function shownNumber(number: string): string {
  if (!/^[1-9]\d{6,14}$/.test(number)) return number;
  const { code } = callingCodeOf(number);
  const rest = number.slice(code.length);
  const groups = rest.length % 2 === 0 ? rest.match(/../g) : [rest.slice(0, 1), ...(rest.slice(1).match(/../g) ?? [])];
  return `+${code} ${(groups ?? [rest]).join('\u00a0')}`;
}

/** Reads a number as people type it; see `readNumber`. Undefined if the text is not a number. */
export const cleanNumber = readNumber;
