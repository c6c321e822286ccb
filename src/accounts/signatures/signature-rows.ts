import type { Row } from '../../storage/engine/operation.js';
import { integerOf, optionalInteger, optionalText, textOf } from '../../storage/engine/rows.js';
import { bytesWith } from '../../storage/read-page.js';
import type { SignatureStatus } from '../account.api.js';
import type { Signature } from '../account-records.js';

/** The columns that `toSignature` reads. */
export const SIGNATURE = 'account_id, name, status, reason, created_at, decided_at';

/** The size of a row in bytes, in SQL. It depends on the reason, because an operator may write a long one. */
export const SIGNATURE_BYTES = bytesWith('reason');

export function toSignature(row: Row): Signature {
  return {
    accountId: textOf(row, 'account_id'),
    name: textOf(row, 'name'),
    // Only `AccountStore` writes the column, from values of this type.
    status: textOf(row, 'status') as SignatureStatus,
    reason: optionalText(row, 'reason'),
    createdAt: integerOf(row, 'created_at'),
    decidedAt: optionalInteger(row, 'decided_at'),
  };
}
