const NAME = /^(?=.*[A-Za-z])[A-Za-z0-9 ._&-]{1,11}$/;
const DIGITS = /^[0-9]{3,15}$/;

/**
 * Whether a name may be registered as a signature: 1–11 characters of `[A-Za-z0-9 ._&-]` with at least one letter (an
 * alphanumeric sender address, 3GPP TS 23.040 section 9.1.2.5), or 3–15 digits.
 */
export function isSignatureName(name: unknown): name is string {
  return typeof name === 'string' && (NAME.test(name) || DIGITS.test(name));
}
