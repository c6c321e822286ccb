import TestSequencer from '@jest/test-sequencer';

/** Unit suites in small files that take long. Jest would think that they are short. */
const LONG = /\/unit\/(storage\/sqlite\/sqlite-storage|testing\/storage-contract|otp\/otp-(model|attacker))\.test\.ts$/;

/**
 * The suites that take long begin first, even if no earlier run has recorded their times: end-to-end suites, then long
 * unit suites. If one began last, the other processors would have nothing to do.
 */
export default class extends TestSequencer {
  sort(tests) {
    const rank = ({ path, context }) => (context.config.displayName?.name !== 'unit' ? 0 : LONG.test(path) ? 1 : 2);
    return super.sort(tests).sort((a, b) => rank(a) - rank(b));
  }
}
