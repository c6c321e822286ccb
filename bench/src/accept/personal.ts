import { type DATABASES, databaseOf, startTarget, type Target } from '../target.js';
import { median } from '../versus.js';

const RECIPIENTS = 100_000;

/** The time of one send of personal texts, and of one text to as many recipients. */
export interface PersonalSends {
  /** The median over the turns, each personal send against the plain one before it. */
  readonly ratio: number;
  /** Milliseconds, as the median of the turns. */
  readonly personal: number;
  readonly plain: number;
}

/** Measures sends to 100 000 recipients: by turns one text for all, and one with two variables for each. */
export async function benchPersonal(
  database: (typeof DATABASES)[number],
  turns: number,
): Promise<PersonalSends | undefined> {
  const place = await databaseOf(database);
  if (!place) return undefined;
  const target = await startTarget({ kind: 'ours', adapter: 'express', url: place.url, dispatch: false });
  const numbers = Array.from({ length: RECIPIENTS }, (_, index) => String(22_670_000_000 + index));
  const plainBody = JSON.stringify({
    signature: 'INFOS',
    content: 'Bonjour Awa Ouedraogo, votre colis FR12345 est arrive.',
    number: numbers,
  });
  const personalBody = JSON.stringify({
    signature: 'INFOS',
    content: 'Bonjour {name}, votre colis {parcel} est arrive.',
    to: numbers.map((number, index) => ({ number, vars: { name: 'Awa Ouedraogo', parcel: `FR${index}` } })),
  });
  await send(target, plainBody);
  await send(target, personalBody);
  const [plain, personal, ratios]: [number[], number[], number[]] = [[], [], []];
  for (let turn = 0; turn < turns; turn++) {
    const before = await send(target, plainBody);
    const own = await send(target, personalBody);
    plain.push(before);
    personal.push(own);
    ratios.push(own / before);
  }
  await target.stop();
  await place.drop();
  return { ratio: median(ratios), personal: median(personal), plain: median(plain) };
}

async function send(target: Target, body: string): Promise<number> {
  const begun = performance.now();
  const response = await fetch(`${target.base}/api/v1/send/sms`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': target.key },
    body,
  });
  const answer = await response.text();
  if (response.status !== 200) throw new Error(answer.slice(0, 200));
  return performance.now() - begun;
}
