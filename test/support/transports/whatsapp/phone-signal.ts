import {
  addTransactionCapability,
  Curve,
  DEFAULT_CONNECTION_CONFIG,
  encodeWAMessage,
  initAuthCreds,
  proto,
  type SignalKeyStore,
  type SocketConfig,
  unpadRandomMax16,
  xmppPreKey,
  xmppSignedPreKey,
} from 'baileys';
import { keyBundle, type LinkedDevice } from './linked-device.js';
import type { Stanza } from './stanza.js';

const SILENT: SocketConfig['logger'] = {
  level: 'silent',
  child: () => SILENT,
  trace: () => undefined,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** An encrypted message, as a stanza carries it. */
export interface Sealed {
  /** `pkmsg` opens a Signal session, `msg` continues one. */
  readonly type: 'pkmsg' | 'msg';
  readonly ciphertext: Uint8Array;
}

/** A phone's end of the Signal protocol: its identity and its sessions. */
export class PhoneSignal {
  readonly identity = initAuthCreds();
  private readonly keys = addTransactionCapability(memoryKeys(), SILENT, {
    maxCommitRetries: 1,
    delayBetweenTriesMs: 1,
  });
  private readonly sessions = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(
    { creds: this.identity, keys: this.keys },
    SILENT,
    async () => [],
  );
  private preKeys = 0;

  /**
   * The keys that the server gives to anybody who wants to write to this phone, with a fresh one-time key each time.
   */
  async bundle(jid: string): Promise<Stanza> {
    const id = ++this.preKeys;
    const pair = Curve.generateKeyPair();
    await this.keys.set({ 'pre-key': { [id]: pair } });
    const { registrationId, signedIdentityKey, signedPreKey } = this.identity;
    return keyBundle(jid, registrationId, signedIdentityKey.public, [
      xmppSignedPreKey(signedPreKey),
      xmppPreKey(pair, id),
    ]);
  }

  /** @throws Error if it is not meant for this phone, or was decrypted before */
  async open(from: string, { type, ciphertext }: Sealed): Promise<proto.Message> {
    const padded = await this.sessions.decryptMessage({ jid: from, type, ciphertext });
    return proto.Message.decode(unpadRandomMax16(padded));
  }

  async seal(to: LinkedDevice, message: proto.IMessage): Promise<Sealed> {
    const jid = to.lid;
    const { exists } = await this.sessions.validateSession(jid);
    if (!exists) await this.sessions.injectE2ESession({ jid, session: to.takeSession() });
    return this.sessions.encryptMessage({ jid, data: encodeWAMessage(message) });
  }
}

function memoryKeys(): SignalKeyStore {
  const values = new Map<string, unknown>();
  return {
    get: (type, ids) =>
      Object.fromEntries(ids.map((id) => [id, values.get(`${type}/${id}`)]).filter(([, value]) => value !== undefined)),
    set: (data) => {
      for (const [type, byId] of Object.entries(data)) {
        for (const [id, value] of Object.entries(byId)) {
          if (value === null) values.delete(`${type}/${id}`);
          else values.set(`${type}/${id}`, value);
        }
      }
    },
  };
}
