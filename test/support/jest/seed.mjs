/** The seed of every property, the same in each run unless `TEST_SEED` gives another. */
export const SEED = Number(process.env.TEST_SEED ?? 1);

/** Jest's `globalSetup`. */
export default function printSeed() {
  process.stderr.write(`Seed ${SEED}, TEST_SEED=… for another\n`);
}
