package io.firstseen.jobs.events;

import io.firstseen.jobs.shared.FieldPointer;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A tree of pointer tokens, in which pointers with a common prefix share nodes. */
final class FieldNode implements Serializable {
  private static final long serialVersionUID = 1;

  private final HashMap<String, FieldNode> children = new HashMap<>();
  private final ArrayList<Integer> places = new ArrayList<>();

  private FieldNode() {}

  static FieldNode of(List<FieldPointer> pointers) {
    FieldNode root = new FieldNode();
    for (int i = 0; i < pointers.size(); i++) {
      FieldNode node = root;
      for (String token : pointers.get(i).tokens()) {
        node = node.children.computeIfAbsent(token, unused -> new FieldNode());
      }
      node.places.add(i);
    }
    return root;
  }

  static FieldValue[] nothing(int pointers) {
    FieldValue[] found = new FieldValue[pointers];
    Arrays.fill(found, FieldValue.MISSING);
    return found;
  }

  /** The child with a name; null if no pointer has this token. */
  @Nullable FieldNode child(String name) {
    return children.get(name);
  }

  /** The child at an index; null if no pointer has this token. */
  @Nullable FieldNode child(int index) {
    return children.get(Integer.toString(index));
  }

  boolean hasChildren() {
    return !children.isEmpty();
  }

  /** Whether a pointer ends at this node. */
  boolean isNamed() {
    return !places.isEmpty();
  }

  /** Records the value of the pointers that end at this node. */
  void set(FieldValue[] found, FieldValue value) {
    for (int place : places) {
      found[place] = value;
    }
  }

  /** Clears the values of this node and its descendants. */
  void clear(FieldValue[] found) {
    set(found, FieldValue.MISSING);
    children.values().forEach(child -> child.clear(found));
  }
}
