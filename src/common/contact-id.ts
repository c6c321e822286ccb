const PREFIX = 'ct_';

/** The form of a contact's id, as a pattern of a JSON Schema. */
export const CONTACT_PATTERN = '^ct_[\\w-]{1,61}$';

const CONTACT = new RegExp(CONTACT_PATTERN);

/** Makes the id of a contact (a person who writes to a linked number of a messaging app) from an id of ours. */
export function contactIdOf(id: string): string {
  return PREFIX + id;
}

/** Whether a value has the form of a contact's id. No phone number and no masked number has it. */
export function isContactId(value: unknown): value is string {
  return typeof value === 'string' && CONTACT.test(value);
}
