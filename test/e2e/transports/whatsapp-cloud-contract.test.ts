import { afterEach, beforeEach, describe, test } from '@jest/globals';
import { describeMsgappTransport } from '../../contract/msgapp/msgapp-contract.js';
import { openCloud } from '../../support/transports/cloud/cloud-harness.js';

describeMsgappTransport('the Cloud API', openCloud, { describe, test, beforeEach, afterEach });
