import { spellingsOf } from '../common/phone-numbers/phone-spellings.js';
import type { Statement } from '../storage/engine/operation.js';

/** Returns a condition for rows of a phone, whatever spelling of its number they have. */
export function isPhone(column: string, number: string): Statement {
  const spellings = spellingsOf(number);
  if (spellings.length === 1) return { sql: `${column} = ?`, params: spellings };
  return { sql: `${column} IN (${spellings.map(() => '?').join(', ')})`, params: spellings };
}
