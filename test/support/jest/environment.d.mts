export default class Environment {
  constructor(config: object, context: object);
  setup(): Promise<void>;
  teardown(): Promise<void>;
}
