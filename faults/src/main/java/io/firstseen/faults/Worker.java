package io.firstseen.faults;

/** A daemon thread: the program can end while it runs. */
final class Worker {
  private final Thread thread;

  private Worker(Thread thread) {
    this.thread = thread;
  }

  static Worker start(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.start();
    return new Worker(thread);
  }

  /** Waits for its end. */
  void join() {
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
