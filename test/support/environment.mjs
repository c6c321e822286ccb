/**
 * Jest's environment for Node, with two differences.
 *
 * Globals at full speed: Jest makes the global object of a test file a `Proxy`, so that each use of `Math`, `Buffer` or
 * `Promise`, in `src` and in packages too, calls interceptors, which took most of this suite's time. A context that is not
 * contextified has an ordinary global object. Files remain isolated from each other as before.
 *
 * No process outlives its file: a test or hook that times out does not reach the line that ends what it started.
 */
import { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
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
    this.children = new Set();
    this.spawn = ChildProcess.prototype.spawn;
    const { children, spawn } = this;
    ChildProcess.prototype.spawn = function (...options) {
      children.add(this);
      this.once('exit', () => children.delete(this));
      return spawn.apply(this, options);
    };
  }

  async teardown() {
    ChildProcess.prototype.spawn = this.spawn;
    for (const child of this.children) {
      const gone = once(child, 'exit');
      if (child.kill('SIGKILL')) await gone;
    }
    await super.teardown();
  }
}
