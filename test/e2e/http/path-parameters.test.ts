import { describePathParameters } from '../../support/http/path-parameters.js';
import { unmountAfterEach } from '../../support/mounting/mounted.js';

unmountAfterEach();

describePathParameters('SQLite', () => ({}));
