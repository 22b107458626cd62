package io.firstseen.testing;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.rpc.RpcSystem;
import org.apache.flink.runtime.rpc.RpcSystemLoader;
import org.apache.flink.runtime.rpc.pekko.PekkoRpcSystemLoader;

/**
 * Lets all Flink clusters of a test JVM share one class loader for Flink's RPC implementation.
 *
 * <p>Flink unpacks Pekko and loads its classes again at each start of a cluster, which takes half
 * of the time of a test with a small job. Flink finds this loader as a service and prefers it.
 */
public final class SharedRpcSystem implements RpcSystemLoader {
  private static RpcSystem shared;

  @Override
  public RpcSystem loadRpcSystem(Configuration configuration) {
    synchronized (SharedRpcSystem.class) {
      if (shared == null) {
        shared = withoutClose(new PekkoRpcSystemLoader().loadRpcSystem(configuration));
      }
      return shared;
    }
  }

  private static RpcSystem withoutClose(RpcSystem system) {
    return (RpcSystem)
        Proxy.newProxyInstance(
            SharedRpcSystem.class.getClassLoader(),
            new Class<?>[] {RpcSystem.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("close")) {
                return null;
              }
              return invoke(system, method, arguments);
            });
  }

  private static Object invoke(RpcSystem system, Method method, Object[] arguments)
      throws Throwable {
    try {
      return method.invoke(system, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  @Override
  public int getLoadPriority() {
    return new PekkoRpcSystemLoader().getLoadPriority() - 1;
  }
}
