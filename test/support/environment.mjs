/**
 * Jest's environment for Node with globals at full speed. Jest makes the global object of a test file a `Proxy`, so that each
 * use of `Math`, `Buffer` or `Promise`, in `src` and in packages too, calls interceptors: half of the time of this suite.
 * A context that is not contextified has an ordinary global object. The files remain isolated from each other as before.
 */
import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

export default class Environment extends TestEnvironment {
  constructor(...args) {
    const { createContext } = vm;
    // Jest has no option for it; its constructor calls this once.
    vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY);
    try {
      super(...args);
    } finally {
      vm.createContext = createContext;
    }
  }
}
