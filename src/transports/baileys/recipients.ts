import type { WASocket } from 'baileys';
import type { Baileys } from './baileys-library.js';
import type { SessionMemory } from './session-memory.js';

/**
 * The address by number of a recipient who may use a LID, the app's second kind of address; undefined when it is not
 * known.
 */
export async function addressOfSender(
  library: Baileys,
  { signalRepository }: Pick<WASocket, 'signalRepository'>,
  jid: string | null | undefined,
): Promise<string | undefined> {
  if (!jid) return undefined;
  const number = library.isLidUser(jid) ? await signalRepository.lidMapping.getPNForLID(jid) : jid;
  return number ? library.jidNormalizedUser(number) : undefined;
}

/** Looks up recipients at the server of one connection. */
export class Recipients {
  constructor(
    private readonly library: Baileys,
    private readonly socket: Pick<WASocket, 'onWhatsApp' | 'getUSyncDevices' | 'user'>,
    private readonly memory: SessionMemory,
  ) {}

  /** Whether a number has an account; undefined when the query fails. */
  async exists(number: string): Promise<boolean | undefined> {
    try {
      const accounts = await this.socket.onWhatsApp(number);
      const account = accounts?.find(({ exists }) => exists);
      if (account?.jid.endsWith('@s.whatsapp.net')) this.memory.addresses.set(number, account.jid);
      return accounts && account !== undefined;
    } catch {
      return undefined;
    }
  }

  /** The address for messages to a number. */
  addressOf(number: string): string {
    return this.memory.addresses.get(number) ?? `${number}@s.whatsapp.net`;
  }

  /**
   * Looks up the devices of a recipient and our own and opens Signal sessions with them, before a message is sent. If this
   * fails within a send, Baileys sends an empty message, which the server accepts and no recipient gets.
   */
  async hasDevices(address: string): Promise<boolean> {
    const own = this.library.jidNormalizedUser(this.socket.user?.id);
    const devices = await this.socket.getUSyncDevices([...new Set([own, address])], true, false);
    const user = this.library.jidDecode(address)?.user;
    return devices.some((device) => device.user === user);
  }
}
