/** The doors whose messages may have a callback. */
const CALLBACK_KINDS = ['twilio', 'kannel'] as const;

/** The door that a message came through, which decides on the shape of its calls. */
export type CallbackKind = (typeof CALLBACK_KINDS)[number];

/** Reads a stored kind. */
export function callbackKind(text: string): CallbackKind {
  const kind = CALLBACK_KINDS.find((each) => each === text);
  if (kind === undefined) throw new Error('A status callback has an unknown kind.');
  return kind;
}

/** A message whose status a URL wants to know. */
export interface StatusCallback {
  readonly messageId: string;
  readonly accountId: string;
  readonly kind: CallbackKind;
  readonly url: string;
  /** The API key that signs the calls, encrypted; undefined for calls that are not signed. */
  readonly sealedKey: string | undefined;
  /** The bits of the statuses that are told, for Kannel's shape; otherwise 0. */
  readonly mask: number;
  /** The number of the account's last event before the send. */
  readonly since: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}
