import { createHash } from 'node:crypto';

/**
 * The linked number that a contact belongs to. An app may give one person another identity for each linked number, so each linked
 * number has contacts of its own.
 */
export interface ContactScope {
  readonly accountId: string;
  readonly channel: string;
  /** The linked number, E.164 digits without the plus sign. */
  readonly linked: string;
}

/** A person who wrote to a linked number. */
export interface Contact extends ContactScope {
  /** `ct_…`. It stays the same when the number becomes known or changes. */
  readonly id: string;
  /** The app's identity of the person. Undefined if the app gave none. */
  readonly identity: string | undefined;
  /** E.164 digits without the plus sign. Undefined while the app hides it. */
  readonly number: string | undefined;
  /** The name that the person chose in the app. Undefined if it is not known. */
  readonly name: string | undefined;
}

/** What the app says of a person: an identity, a number, or both, which then belong together. */
export interface Sighting extends ContactScope {
  /** At most 255 characters. */
  readonly identity: string | undefined;
  readonly number: string | undefined;
  readonly name?: string | undefined;
  /** The id that the contact gets if it is new. Undefined: a person who is no contact yet is not made one. */
  readonly newId: string | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Returns the names under which the addresses of a person are stored. */
export function addressNames(person: ContactScope & Pick<Contact, 'identity' | 'number'>): readonly string[] {
  const { identity, number } = person;
  return [
    ...(identity === undefined ? [] : [addressName(person, 'identity', identity)]),
    ...(number === undefined ? [] : [addressName(person, 'number', number)]),
  ];
}

/** Returns the name under which an address of a contact is stored. It reveals nothing of the address. */
export function addressName(
  { accountId, channel, linked }: ContactScope,
  kind: 'identity' | 'number' | 'lock',
  value = '',
): string {
  return createHash('sha256')
    .update(JSON.stringify([accountId, channel, linked, kind, value]))
    .digest('base64url');
}
