import { jidDecode } from 'baileys';
import type { LinkedDevice } from './linked-device.js';
import type { Phone } from './phone.js';

/** Who is registered on the network. */
export class Directory {
  private readonly phones = new Map<string, Phone>();
  /** The numbers that clients have asked about, in order. */
  readonly soughtNumbers: string[] = [];
  private readonly spellings = new Map<string, Phone>();
  private readonly devices = new Map<string, LinkedDevice>();

  add(phone: Phone): void {
    this.phones.set(phone.number, phone);
    this.phones.set(phone.lidUser, phone);
  }

  /** @param user a number, or the other name of one */
  phone(user: string | undefined): Phone | undefined {
    return this.phones.get(user ?? '');
  }

  /** From now on the network knows this spelling of a phone's number too, but reaches the phone only by the number. */
  alias(spelling: string, phone: Phone): void {
    this.spellings.set(spelling, phone);
  }

  /** @param number as somebody has it in the address book */
  contact(number: string): Phone | undefined {
    this.soughtNumbers.push(number);
    return this.spellings.get(number) ?? this.phones.get(number);
  }

  link(device: LinkedDevice): void {
    this.devices.set(`${device.phone.number}:${device.id}`, device);
  }

  unlink(device: LinkedDevice): void {
    this.devices.delete(`${device.phone.number}:${device.id}`);
  }

  /** The phone, or the linked device, that an address names. */
  find(jid: string): Phone | LinkedDevice | undefined {
    const { user, device } = jidDecode(jid) ?? {};
    const phone = this.phone(user);
    return device ? this.device(phone?.number, device) : phone;
  }

  device(number: string | undefined, id: number): LinkedDevice | undefined {
    return this.devices.get(`${number}:${id}`);
  }

  devicesOf(number: string): LinkedDevice[] {
    return [...this.devices.values()].filter((device) => device.phone.number === number);
  }
}
