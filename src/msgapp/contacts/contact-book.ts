import { DAY_MS } from '../../common/time.js';
import { addressName, type Contact, type Sighting } from './contact.js';

/** A contact as it is stored. */
export interface StoredContact extends Contact {
  /** When the person last wrote, to the day, in milliseconds since the epoch. */
  readonly seenAt: number;
  readonly mergedInto?: string | undefined;
}

/** What became known of a contact. */
export interface Identified {
  readonly contact: Contact & { readonly number: string };
  /** The contact that turned out to be the same person. */
  readonly merged: string | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * The contacts that some sightings may be about. It takes the sightings one after another, and remembers what must be written.
 *
 * A number belongs to one contact of a linked number. If the app shows it with another identity than before, it has a new owner:
 * the former contact loses it, and keeps its identity. So an answer to a contact never reaches the new owner of its number.
 */
export class ContactBook {
  private readonly contacts = new Map<string, StoredContact>();
  private readonly owners = new Map<string, string>();
  /** The contacts that are new or have changed. */
  readonly changed = new Set<string>();
  /** The owner of each address that has a new one. Undefined: it has none any more. */
  readonly moved = new Map<string, string | undefined>();
  readonly identified: Identified[] = [];

  /**
   * @param contacts the owners of all addresses that the sightings have
   * @param owners the id of the contact that an address belongs to, by `addressName`
   */
  constructor(contacts: readonly StoredContact[], owners: ReadonlyMap<string, string>) {
    for (const contact of contacts) this.contacts.set(contact.id, contact);
    for (const [address, id] of owners) this.owners.set(address, id);
  }

  /** Returns the contact with an id, or the one into which it was merged. */
  find(id: string | undefined): StoredContact | undefined {
    const contact = id === undefined ? undefined : this.contacts.get(id);
    return contact?.mergedInto === undefined ? contact : this.find(contact.mergedInto);
  }

  /** Returns the contact with exactly this id, merged or not. */
  stored(id: string): StoredContact | undefined {
    return this.contacts.get(id);
  }

  /** Whether a sighting says nothing new. Then it needs no lock and writes nothing. */
  knows(sighting: Sighting): boolean {
    const { identity, number, name, newId, at } = sighting;
    const byIdentity = this.owner(sighting, 'identity', identity);
    const byNumber = this.owner(sighting, 'number', number);
    const contact = byIdentity ?? byNumber;
    if (!contact) return newId === undefined || (identity === undefined && number === undefined);
    if (identity !== undefined && number !== undefined && byIdentity !== byNumber) return false;
    if (newId === undefined) return true;
    return at - contact.seenAt < DAY_MS && (name === undefined || name === contact.name);
  }

  /** Takes a sighting. Returns the person's contact, or undefined if it has none. */
  meet(sighting: Sighting): StoredContact | undefined {
    const { identity, number } = sighting;
    const byIdentity = this.owner(sighting, 'identity', identity);
    const byNumber = this.owner(sighting, 'number', number);
    // A contact with another identity is another person, who had the number before.
    const isOther = identity !== undefined && byNumber?.identity !== undefined && byNumber.identity !== identity;
    if (isOther) this.put(this.without(byNumber));
    const contact = byIdentity ?? (isOther ? undefined : byNumber) ?? this.make(sighting);
    if (!contact) return undefined;
    const isJoined = identity === undefined || number === undefined || (byIdentity && byIdentity === byNumber);
    return this.seen(isJoined ? contact : this.join(contact, isOther ? undefined : byNumber, sighting), sighting);
  }

  private owner(sighting: Sighting, kind: 'identity' | 'number', value: string | undefined): StoredContact | undefined {
    return value === undefined ? undefined : this.find(this.owners.get(addressName(sighting, kind, value)));
  }

  private make({ newId, accountId, channel, linked, at, ...seen }: Sighting): StoredContact | undefined {
    const { identity, number, name } = seen;
    if (newId === undefined || (identity === undefined && number === undefined)) return undefined;
    const contact: StoredContact = {
      id: newId,
      accountId,
      channel,
      linked,
      identity,
      number: undefined,
      name,
      seenAt: at,
    };
    this.move(contact, 'identity', identity, newId);
    return this.put(identity === undefined ? this.numbered(contact, number) : contact);
  }

  /** Notes that an identity and a number belong together. `byNumber` has no other identity. */
  private join(contact: StoredContact, byNumber: StoredContact | undefined, sighting: Sighting): StoredContact {
    const { number, at } = sighting;
    if (number === undefined) return contact;
    const merged = byNumber?.id === contact.id ? undefined : byNumber;
    if (merged) this.put({ ...merged, number: undefined, name: undefined, mergedInto: contact.id });
    if (contact.identity === undefined) this.move(contact, 'identity', sighting.identity, contact.id);
    const identity = contact.identity ?? sighting.identity;
    const name = contact.name ?? merged?.name;
    const joined = this.put(this.numbered({ ...this.without(contact), identity, name }, number));
    this.identified.push({ contact: { ...joined, number }, merged: merged?.id, at });
    return joined;
  }

  /** Takes the number from a contact. */
  private without(contact: StoredContact): StoredContact {
    this.move(contact, 'number', contact.number, undefined);
    return { ...contact, number: undefined };
  }

  private seen(contact: StoredContact, { newId, name = contact.name, at }: Sighting): StoredContact {
    const isFresh = at - contact.seenAt < DAY_MS && name === contact.name;
    return newId === undefined || isFresh
      ? contact
      : this.put({ ...contact, name, seenAt: Math.max(at, contact.seenAt) });
  }

  private numbered(contact: StoredContact, number: string | undefined): StoredContact {
    this.move(contact, 'number', number, contact.id);
    return { ...contact, number };
  }

  private move(
    contact: StoredContact,
    kind: 'identity' | 'number',
    value: string | undefined,
    to: string | undefined,
  ): void {
    if (value === undefined) return;
    const address = addressName(contact, kind, value);
    this.moved.set(address, to);
    if (to === undefined) this.owners.delete(address);
    else this.owners.set(address, to);
  }

  private put(contact: StoredContact): StoredContact {
    this.contacts.set(contact.id, contact);
    this.changed.add(contact.id);
    return contact;
  }
}
