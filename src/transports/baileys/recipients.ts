import type { WASocket } from 'baileys';
import type { Baileys } from './baileys-library.js';
import type { SessionMemory } from './session-memory.js';

/**
 * The address under which a recipient was written to, whichever of their two names they use now; undefined when that is
 * not known.
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

/** Who can be reached, as one connection's server tells. */
export class Recipients {
  constructor(
    private readonly library: Baileys,
    private readonly socket: Pick<WASocket, 'onWhatsApp' | 'getUSyncDevices' | 'user'>,
    private readonly memory: SessionMemory,
  ) {}

  /** Whether a number has an account; undefined when the server did not tell. */
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

  /** Where messages to a number go. */
  addressOf(number: string): string {
    return this.memory.addresses.get(number) ?? `${number}@s.whatsapp.net`;
  }

  /**
   * Looks up the devices of a recipient and our own, and opens Signal sessions with them, so that a message finds them
   * known. When this fails within a send, Baileys sends an empty message, which the server takes and nobody gets.
   */
  async hasDevices(address: string): Promise<boolean> {
    const own = this.library.jidNormalizedUser(this.socket.user?.id);
    const devices = await this.socket.getUSyncDevices([...new Set([own, address])], true, false);
    const user = this.library.jidDecode(address)?.user;
    return devices.some((device) => device.user === user);
  }
}
