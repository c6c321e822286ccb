// `low` changes in the statement that changes the balance: no accept needs a further statement or lock for it, and no fall is
// missed. It is set before `balance`, because MariaDB shows a later assignment the new value. While it stays as it is,
// PostgreSQL need not write to its index (HOT).

/** The values of `messaging_account.low` below the threshold: no event tells it yet, or one does. Null above it. */
export const [LOW_UNPUBLISHED, LOW_PUBLISHED] = [1, 2] as const;

/**
 * The new `low` of an account whose balance falls.
 * @param units by how much: an expression, or one `?`
 */
export function lowAfterDebit(units: string): string {
  return `CASE WHEN low IS NULL AND balance - ${units} < low_below THEN ${LOW_UNPUBLISHED} ELSE low END`;
}

/** As `lowAfterDebit`, for a balance that rises. A fall that no event tells yet stays to be told. */
export function lowAfterCredit(units: string): string {
  return `CASE WHEN low = ${LOW_PUBLISHED} AND balance + ${units} >= low_below THEN NULL ELSE low END`;
}
