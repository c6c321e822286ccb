import { unmountAfterEach } from '../../support/mounted.js';
import { describePathParameters } from '../../support/path-parameters.js';

unmountAfterEach();

describePathParameters('SQLite', () => ({}));
