import type { WASocket } from 'baileys';
import type { Baileys } from './baileys-library.js';

/**
 * Returns the address by phone number of a sender who may use a LID, the app's second kind of address. If the app hides the
 * number, it returns the LID itself.
 */
export async function addressOfSender(
  library: Baileys,
  { signalRepository }: Pick<WASocket, 'signalRepository'>,
  jid: string | null | undefined,
): Promise<string | undefined> {
  if (!jid) return undefined;
  const number = library.isLidUser(jid) ? await signalRepository.lidMapping.getPNForLID(jid) : jid;
  return library.jidNormalizedUser(number ?? jid);
}

/** Looks up recipients at the server of one connection. */
export class Recipients {
  constructor(
    private readonly library: Baileys,
    private readonly socket: Pick<WASocket, 'onWhatsApp' | 'getUSyncDevices' | 'user'>,
  ) {}

  /**
   * Returns the server's address of a number. The address may have other digits than the number (mobiles in Brazil, Mexico and
   * Argentina), or no digits of it. False: the number has no account. Undefined: the query failed.
   */
  async exists(number: string): Promise<string | false | undefined> {
    try {
      const accounts = await this.socket.onWhatsApp(number);
      const account = accounts?.find(({ exists }) => exists);
      return accounts && (account ? this.library.jidNormalizedUser(account.jid) : false);
    } catch {
      return undefined;
    }
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
