/** Lets everything go on that can go on without time passing. */
export async function settled(turns = 10): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
}
