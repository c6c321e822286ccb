/** Lets all work run that can run without time passing. */
export async function settled(turns = 10): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
}
