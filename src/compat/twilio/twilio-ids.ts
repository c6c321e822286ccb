/**
 * Twilio's ids are two letters and 32 hexadecimal digits, and programs store them in columns of 34 characters. Our ids are
 * UUIDs, so they fit without their hyphens. An id of another form stays as it is.
 */

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const DIGITS = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;

/** The kinds of ids: an account, a message, a verification. */
type Prefix = 'AC' | 'SM' | 'VE';

/** Our id in Twilio's form. */
export function sidOf(prefix: Prefix, id: string): string {
  return `${prefix}${UUID.test(id) ? id.replaceAll('-', '') : id}`;
}

/** Our id of an id in Twilio's form. The prefix may be missing. */
export function idOf(prefix: Prefix, sid: string): string {
  const id = sid.startsWith(prefix) ? sid.slice(prefix.length) : sid;
  return id.replace(DIGITS, '$1-$2-$3-$4-$5');
}
