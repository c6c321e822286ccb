import TestSequencer from '@jest/test-sequencer';

/** The suites that take long begin first, also where no run before has told which: all of these are end-to-end suites. */
export default class extends TestSequencer {
  sort(tests) {
    const isUnit = ({ context }) => context.config.displayName?.name === 'unit';
    const sorted = super.sort(tests);
    return [...sorted.filter((test) => !isUnit(test)), ...sorted.filter(isUnit)];
  }
}
