import {
  type Abstract,
  type DynamicModule,
  type InjectionToken,
  type ModuleMetadata,
  type OptionalFactoryDependency,
  type Provider,
  SetMetadata,
  type Type,
} from '@nestjs/common';
import { MessagingOptionsError } from '../common/errors.js';
import { classFault, portFault, portName } from '../common/port.js';

/** The value of an option that is a port: a class, a value, a factory, or a module that exports the port. */
export type PortSource<T extends object> =
  | Type<T>
  | { readonly useValue: T }
  | {
      readonly imports?: ModuleMetadata['imports'] | undefined;
      readonly inject?: (InjectionToken | OptionalFactoryDependency)[] | undefined;
      readonly useFactory: (...injected: never[]) => T | Promise<T>;
    }
  | DynamicModule;

/** The parts of a module that provide a port. */
export interface PortParts {
  readonly imports: NonNullable<ModuleMetadata['imports']>;
  readonly providers: Provider[];
  /**
   * The token of the port, or the module that provides it, because a Nest module can only export a token that it
   * provides itself.
   */
  readonly exports: NonNullable<ModuleMetadata['exports']>;
}

const IMPORTS = 'nestjs-messaging:imports';

/**
 * Names the modules that provide the dependencies of a port's implementation. If the class is given for a port, these
 * modules are imported with it.
 */
export const ImportsModules = (...modules: readonly Type<object>[]): ClassDecorator => SetMetadata(IMPORTS, modules);

/**
 * Returns the parts of a module that provide `token` from the value of a host's option.
 * @param option the option's name, for the error
 * @throws MessagingOptionsError if `source` cannot provide a port
 */
export function providePort<T extends object>(option: string, token: Abstract<T>, source: PortSource<T>): PortParts {
  if (typeof source === 'function' && source.prototype !== undefined) {
    // A module can be given as its class, as in `imports`.
    if (isModule(source)) return { imports: [source], providers: [], exports: [source] };
    return {
      imports: Reflect.getMetadata(IMPORTS, source) ?? [],
      providers: [{ provide: token, useClass: checkedClass(option, token, source) }],
      exports: [token],
    };
  }
  if (typeof source === 'object' && source !== null) {
    if ('module' in source) return { imports: [source], providers: [], exports: [source] };
    if ('useValue' in source) {
      const useValue = portOf(option, token, source.useValue);
      return { imports: [], providers: [{ provide: token, useValue }], exports: [token] };
    }
    if ('useFactory' in source && typeof source.useFactory === 'function') {
      const { useFactory, inject = [], imports = [] } = source;
      const checked = async (...injected: unknown[]): Promise<T> =>
        portOf(option, token, await invokeFactory(useFactory, injected));
      return { imports, providers: [{ provide: token, useFactory: checked, inject }], exports: [token] };
    }
  }
  throw new MessagingOptionsError(
    `Option ${option} must be a class, { useValue }, { useFactory, inject } or a module that exports ${token.name}.`,
  );
}

function isModule(source: object): boolean {
  return ['imports', 'providers', 'exports'].some((part) => Reflect.hasMetadata(part, source));
}

/** Checks an object when the application starts. Otherwise a missing method would only fail when it is first called. */
function portOf<T extends object>(option: string, token: Abstract<T>, port: T): T {
  const fault = portFault(token, port);
  if (fault === undefined) return port;
  throw wrongPort(option, token, fault);
}

/** Returns a subclass whose constructor checks the new instance. Only an instance has the fields of the class. */
function checkedClass<T extends object>(option: string, token: Abstract<T>, source: Type<T>): Type<object> {
  const fault = classFault(token, source);
  if (fault !== undefined) throw wrongPort(option, token, fault);
  const Source: Type<object> = source;
  class Checked extends Source {
    constructor(...injected: unknown[]) {
      super(...injected);
      portOf<object>(option, token, this);
    }
  }
  // Nest finds the injected types by inheritance. For everything else the subclass looks like the source: it has the
  // same name and constructor.
  Object.defineProperty(Checked, 'name', { value: source.name });
  Object.defineProperty(Checked.prototype, 'constructor', { value: source });
  return Checked;
}

function wrongPort(option: string, token: Abstract<object>, fault: string): MessagingOptionsError {
  return new MessagingOptionsError(`Option ${option} must give ${portName(token)}; ${fault}.`);
}

/** Calls a factory of the host with the dependencies that Nest has injected. Their types are known only to the host. */
export function invokeFactory<V>(useFactory: (...injected: never[]) => V, injected: readonly unknown[]): V {
  return Reflect.apply(useFactory, undefined, injected as never[]);
}
