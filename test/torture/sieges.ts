import { afterEach } from '@jest/globals';
import { BesiegedService, type SiegeSettings } from './besieged-service.js';
import { type Engine, makeDatabase } from './databases.js';
import type { Fault } from './faults.js';
import { leaveOut, note, randomOf, short } from './form.js';

type Besiege = (engine: Engine, settings: SiegeSettings) => Promise<BesiegedService | undefined>;

/** Opens services that are closed after each test; undefined if the engine is not available. */
export function sieges(): Besiege {
  const open: BesiegedService[] = [];
  afterEach(async () => {
    for (const service of open.splice(0)) await service.close();
  }, 60_000);
  return async (engine, settings) => {
    const database = await makeDatabase(engine);
    if (!database) return undefined;
    const service = await BesiegedService.open(database, settings, randomOf(`${engine} ${JSON.stringify(settings)}`));
    open.push(service);
    return service;
  };
}

/**
 * One fault after the other, as far as they fit; in the short form one that the seed draws.
 * @returns the faults that were found, as sentences; after the first one that has left something, the others are left
 * out
 */
export async function endureAll(
  service: BesiegedService,
  faults: readonly Fault[],
  { table, where }: { readonly table: string; readonly where: string },
): Promise<string[]> {
  const { ground } = service;
  const fitting = faults.filter(({ fits }) => fits(ground));
  const chosen = short ? fitting[Math.floor(randomOf(where)() * fitting.length)] : undefined;
  const all: string[] = [];
  for (const fault of fitting) {
    // The traces of one fault must not be blamed on the next one.
    if ((chosen && fault !== chosen) || all.length > 0) {
      leaveOut(`${fault.name} on ${where}`);
      continue;
    }
    const { problems, ...figures } = await service.endure(fault);
    note(`${table} (unknown, duplicates and refunded add up)`, {
      where,
      fault: fault.name,
      ...figures,
      problems: problems.length,
    });
    all.push(...problems.map((problem) => `${fault.name}: ${problem}`));
  }
  return all;
}
