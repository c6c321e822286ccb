import { byClaim, type DatedReceipt, type SmsPart } from '../../sms/receipts/sms-part.js';

/** A part's row. */
interface MemoryPart extends SmsPart {
  readonly expiresAt: number;
}

/** A parked receipt's row. */
interface MemoryParked {
  readonly receipt: DatedReceipt;
  readonly expiresAt: number;
}

/** The rows of parts, found by their SMS and by the carrier's id, and of parked receipts by what they say. */
export class MemoryParts {
  readonly parked = new Map<string, MemoryParked>();
  private readonly bySms = new Map<string, MemoryPart[]>();
  private readonly byId = new Map<string, MemoryPart[]>();

  /** The parts of one SMS by attempt and part. */
  of(messageId: string, position: number): readonly SmsPart[] {
    const rows = this.bySms.get(`${position} ${messageId}`) ?? [];
    return rows.map(({ expiresAt: _, ...part }) => part).sort((a, b) => a.attempt - b.attempt || a.part - b.part);
  }

  /** The parts of a send by position, attempt and part. */
  ofSend(messageId: string): readonly SmsPart[] {
    const places = [...this.bySms.values()]
      .flatMap((rows) => rows.slice(0, 1))
      .filter((row) => row.messageId === messageId);
    return places.sort((a, b) => a.position - b.position).flatMap(({ position }) => this.of(messageId, position));
  }

  /** Adds a part unless it is there. */
  add(part: MemoryPart): void {
    if (this.of(part.messageId, part.position).some((row) => isSame(row, part))) return;
    for (const [rows, key] of this.lists(part)) rows.set(key, [...(rows.get(key) ?? []), part]);
  }

  replace(part: SmsPart): void {
    for (const [rows, key] of this.lists(part)) {
      rows.set(
        key,
        (rows.get(key) ?? []).map((row) => (isSame(row, part) ? { ...row, ...part } : row)),
      );
    }
  }

  /** The part that a receipt is for. */
  find({ route, ids, number }: DatedReceipt): SmsPart | undefined {
    for (const id of ids) {
      const rows = this.byId.get(`${id} ${route}`) ?? [];
      const [first] = rows.filter((row) => number === undefined || row.number === number).sort(byClaim);
      if (first) return first;
    }
    return undefined;
  }

  /** When the last receipt was said to be that came for any of the parts that this one could be for. */
  lastWord({ route, ids, number }: DatedReceipt): number {
    const rows = ids.flatMap((id) => this.byId.get(`${id} ${route}`) ?? []);
    const said = rows.filter((row) => row.status !== 'sent' && (number === undefined || row.number === number));
    return Math.max(...said.map(({ updatedAt }) => updatedAt));
  }

  /** Forgets at most `limit` parts that have expired; answers how many. */
  purge(now: number, limit: number): number {
    const expired = [...this.bySms.values()]
      .flat()
      .filter(({ expiresAt }) => expiresAt <= now)
      .slice(0, limit);
    for (const part of expired) {
      for (const [rows, key] of this.lists(part)) {
        const rest = (rows.get(key) ?? []).filter((row) => !isSame(row, part));
        if (rest.length > 0) rows.set(key, rest);
        else rows.delete(key);
      }
    }
    return expired.length;
  }

  private lists({ messageId, position, carrierId, route }: SmsPart): [Map<string, MemoryPart[]>, string][] {
    const own: [Map<string, MemoryPart[]>, string] = [this.bySms, `${position} ${messageId}`];
    return carrierId === '' ? [own] : [own, [this.byId, `${carrierId} ${route}`]];
  }
}

function isSame(a: SmsPart, b: SmsPart): boolean {
  return a.messageId === b.messageId && a.position === b.position && a.attempt === b.attempt && a.part === b.part;
}
