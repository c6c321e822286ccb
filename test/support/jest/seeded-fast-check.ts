import fc from '../../../node_modules/fast-check/lib/fast-check.js';
import { SEED } from './seed.mjs';

/**
 * fast-check as `jest.config.js` gives it to every test: with a fixed seed, which it prints with a property that fails.
 */
fc.configureGlobal({ seed: SEED });

export default fc;
