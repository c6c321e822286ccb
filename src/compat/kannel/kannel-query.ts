import { isUtf8 } from 'node:buffer';
import { KannelRefusal } from './kannel-refusal.js';

/** Kannel's other names of fields. */
const ALIASES: Readonly<Record<string, string>> = {
  user: 'username',
  pass: 'password',
  'dlr-mask': 'dlrmask',
  'dlr-url': 'dlrurl',
};

/**
 * The fields of a `sendsms` query. Their values are bytes, because the text may be UTF-16. An empty field counts as missing, and
 * of a repeated field, the first value counts.
 */
export class KannelQuery {
  private readonly fields = new Map<string, Buffer>();

  /** @param target the request target, unchanged */
  constructor(target: string) {
    const start = target.indexOf('?');
    if (start === -1) return;
    for (const pair of target.slice(start + 1).split('&')) {
      const equals = pair.indexOf('=');
      if (equals === -1) continue;
      const name = canonical(bytesIn(pair.slice(0, equals)).toString('latin1'));
      if (!this.fields.has(name)) this.fields.set(name, bytesIn(pair.slice(equals + 1)));
    }
  }

  /** Whether the field is there, even if it is empty. */
  has(name: string): boolean {
    return this.fields.has(canonical(name));
  }

  /** The bytes of a field; undefined if it is missing or empty. */
  bytes(name: string): Buffer | undefined {
    const value = this.fields.get(canonical(name));
    return value === undefined || value.length === 0 ? undefined : value;
  }

  /**
   * A field as text.
   * @throws KannelRefusal if it is not UTF-8
   */
  text(name: string): string | undefined {
    const value = this.bytes(name);
    if (value !== undefined && !isUtf8(value)) throw new KannelRefusal(400, `${name} is not UTF-8, rejected`);
    return value?.toString();
  }

  /**
   * A field that is a whole number.
   * @throws KannelRefusal for anything else, and above `most`
   */
  integer(name: string, most: number): number | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    if (!/^\d{1,9}$/.test(value) || Number(value) > most) {
      throw new KannelRefusal(400, `${name} must be a whole number from 0 to ${most}, rejected`);
    }
    return Number(value);
  }
}

function canonical(name: string): string {
  return ALIASES[name] ?? name;
}

/** The bytes that a part of a query stands for. A percent sign without two hexadecimal digits stands for itself. */
function bytesIn(part: string): Buffer {
  const decoded = part
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
  return Buffer.from(decoded, 'latin1');
}
