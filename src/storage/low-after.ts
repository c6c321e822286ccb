// The statement that changes the balance also changes `low`. So no accept needs a further statement or lock for it, and
// no fall is missed. `low` is assigned before `balance`, because in MariaDB a later assignment would see the new
// balance. As long as the value of `low` stays the same, PostgreSQL need not write to its index (HOT).

/**
 * The values of `messaging_account.low` while the balance is below the threshold: its event is not published yet, or it
 * is. At or above the threshold it is null.
 */
export const [LOW_UNPUBLISHED, LOW_PUBLISHED] = [1, 2] as const;

/**
 * The new `low` of an account whose balance falls.
 * @param units the amount: an expression, or one `?`
 */
export function lowAfterDebit(units: string): string {
  return `CASE WHEN low IS NULL AND balance - ${units} < low_below THEN ${LOW_UNPUBLISHED} ELSE low END`;
}

/**
 * As `lowAfterDebit`, for a balance that rises. If the event of a fall is not published yet, it will still be
 * published.
 */
export function lowAfterCredit(units: string): string {
  return `CASE WHEN low = ${LOW_PUBLISHED} AND balance + ${units} >= low_below THEN NULL ELSE low END`;
}
