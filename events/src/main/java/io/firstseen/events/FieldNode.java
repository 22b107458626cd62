package io.firstseen.events;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;

/** A tree of pointer tokens, in which pointers with a common prefix share nodes. */
final class FieldNode implements Serializable {
  /** The node of a name that no pointer has. */
  static final FieldNode NONE = new FieldNode();

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

  FieldNode child(String name) {
    return children.getOrDefault(name, NONE);
  }

  FieldNode child(int index) {
    return hasChildren() ? child(Integer.toString(index)) : NONE;
  }

  boolean hasChildren() {
    return !children.isEmpty();
  }

  /** Whether a pointer ends at this node. */
  boolean isNamed() {
    return !places.isEmpty();
  }

  void set(FieldValue[] found, FieldValue value) {
    for (int place : places) {
      found[place] = value;
    }
  }

  void clear(FieldValue[] found) {
    set(found, FieldValue.MISSING);
    children.values().forEach(child -> child.clear(found));
  }
}
