import TestSequencer from '@jest/test-sequencer';

/** Unit suites that take long in a small file, by which Jest would take them for short ones. */
const LONG = /\/unit\/(storage\/sqlite\/sqlite-storage|testing\/storage-contract|otp\/otp-(model|attacker))\.test\.ts$/;

/**
 * The suites that take long begin first, also where no run before has told which: end-to-end suites, then long unit suites. One
 * that began last would leave the other processors with nothing to do.
 */
export default class extends TestSequencer {
  sort(tests) {
    const rank = ({ path, context }) => (context.config.displayName?.name !== 'unit' ? 0 : LONG.test(path) ? 1 : 2);
    return super.sort(tests).sort((a, b) => rank(a) - rank(b));
  }
}
