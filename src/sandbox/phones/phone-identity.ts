const PREFIX = 'sandbox:';

/** Returns the identity of a phone on messaging apps, by which it is reached if its number is hidden. */
export function identityOfPhone(number: string): string {
  return `${PREFIX}${number}`;
}

/** Returns the number of the phone that has an identity. Undefined for an identity of another app. */
export function phoneOfIdentity(identity: string): string | undefined {
  return identity.startsWith(PREFIX) ? identity.slice(PREFIX.length) : undefined;
}
