import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listens } from '../../common/listens.js';
import { hasPeer, program } from './installed.js';
import { onFreePorts } from './loopback.js';
import { peerFolder, removeFolder } from './peer-folder.js';
import { PeerProcess } from './peer-process.js';

/** Where Kannel listens. */
interface KannelPorts {
  readonly host: string;
  readonly admin: number;
  readonly smsbox: number;
  readonly sendsms: number;
}

/** The first digits of the numbers for which Kannel has no route. */
export const UNROUTED_PREFIX = '22699';

/** The `max-messages` of its `sendsms-user`. */
export const MAX_MESSAGES = 20;

/** The order that Kannel gets. */
export interface KannelSms {
  readonly to: string;
  readonly text: string;
  /** Whether the text is sent as GSM-7 or as UCS-2. Kannel leaves that to the sender. */
  readonly as: 'gsm7' | 'ucs2';
  /** The URL that Kannel calls with reports about the SMS; `%d` is Kannel's number for the report. */
  readonly dlrUrl?: string;
}

/** The SMSC that Kannel binds to, and what it does with texts from phones. */
export interface KannelSettings {
  readonly smscPort: number;
  /** Its group `sms-service`. */
  readonly service: string;
}

/**
 * Returns the group `sms-service` of Kannel's configuration. With it Kannel calls a URL with each text that a phone sends, and
 * sends the phone no answer. Kannel replaces `%b` in the URL by the octets of the text: UTF-16BE if `%c` is 2, otherwise UTF-8.
 */
export function calling(url: string): string {
  return `group = sms-service
keyword = default
get-url = "${url}"
max-messages = 0
`;
}

/** Whether Kannel is installed here. */
export const hasKannel = (): boolean => hasPeer('Kannel', 'kannel', ['bearerbox', 'smsbox', 'setpriv']);

/** Kannel, an SMS gateway, as a client of an SMSC. It has an address and free ports of its own. */
export class Kannel {
  private readonly boxes: PeerProcess[] = [];

  static start(settings: KannelSettings): Promise<Kannel> {
    return onFreePorts(3, async (host, [admin = 0, smsbox = 0, sendsms = 0]) => {
      const kannel = new Kannel(peerFolder('kannel'), { host, admin, smsbox, sendsms });
      try {
        await kannel.run(settings);
      } catch (error) {
        await kannel.close();
        throw error;
      }
      return kannel;
    });
  }

  private constructor(
    private readonly folder: string,
    private readonly ports: KannelPorts,
  ) {}

  /** Sends over its HTTP interface. @throws Error if Kannel refuses */
  async send({ to, text, as, dlrUrl }: KannelSms): Promise<void> {
    const query = new URLSearchParams({
      username: 'test',
      password: 'secret',
      from: 'INFOS',
      to,
      text,
      charset: 'UTF-8',
      coding: as === 'ucs2' ? '2' : '0',
      // Every kind of report but "still trying".
      ...(dlrUrl === undefined ? {} : { 'dlr-mask': '27', 'dlr-url': dlrUrl }),
    });
    const answer = await fetch(`${this.url}/cgi-bin/sendsms?${query}`);
    if (answer.status !== 202) throw new Error(`Kannel answers ${answer.status}: ${await answer.text()}`);
  }

  /** The URL of its HTTP interface. */
  get url(): string {
    return `http://${this.ports.host}:${this.ports.sendsms}`;
  }

  async close(): Promise<void> {
    for (const box of this.boxes.toReversed()) await box.stop();
    removeFolder(this.folder);
  }

  private async run(settings: KannelSettings): Promise<void> {
    writeFileSync(join(this.folder, 'kannel.conf'), configuration(this.ports, settings));
    await this.box('bearerbox', this.ports.smsbox);
    await this.box('smsbox', this.ports.sendsms);
  }

  private async box(name: string, port: number): Promise<void> {
    const box = new PeerProcess(program(name), ['-v', '1', 'kannel.conf'], { folder: this.folder });
    this.boxes.push(box);
    await box.ready(() => listens(port, this.ports.host));
  }
}

function configuration({ host, admin, smsbox, sendsms }: KannelPorts, { smscPort, service }: KannelSettings): string {
  return `
group = core
admin-port = ${admin}
admin-interface = ${host}
admin-password = secret
smsbox-port = ${smsbox}
smsbox-interface = ${host}
dlr-storage = internal
sms-combine-concatenated-mo = true

group = smsc
smsc = smpp
host = 127.0.0.1
port = ${smscPort}
smsc-username = kannel
smsc-password = secret
system-type = "VMA"
transceiver-mode = true
interface-version = 34
denied-prefix = ${UNROUTED_PREFIX}
enquire-link-interval = 1
reconnect-delay = 1

group = smsbox
bearerbox-host = ${host}
bearerbox-port = ${smsbox}
sendsms-port = ${sendsms}
sendsms-interface = ${host}

group = sendsms-user
username = test
password = secret
max-messages = ${MAX_MESSAGES}
concatenation = true

${service}`;
}
