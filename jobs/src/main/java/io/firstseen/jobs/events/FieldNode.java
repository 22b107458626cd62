package io.firstseen.jobs.events;

import io.firstseen.jobs.shared.FieldPointer;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What pointers that begin alike name: a tree of their tokens. */
final class FieldNode implements Serializable {
  private static final long serialVersionUID = 1;

  private final HashMap<String, FieldNode> children = new HashMap<>();
  private final ArrayList<Integer> places = new ArrayList<>();

  private FieldNode() {}

  /** The tree of pointers. */
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

  /** As many missing values as there are pointers. */
  static FieldValue[] nothing(int pointers) {
    FieldValue[] found = new FieldValue[pointers];
    Arrays.fill(found, FieldValue.MISSING);
    return found;
  }

  /** What is below, under a name; null if no pointer goes there. */
  @Nullable FieldNode child(String name) {
    return children.get(name);
  }

  /** What is below, at an index; null if no pointer goes there. */
  @Nullable FieldNode child(int index) {
    return children.get(Integer.toString(index));
  }

  /** Whether a pointer goes on. */
  boolean hasChildren() {
    return !children.isEmpty();
  }

  /** Whether a pointer ends here. */
  boolean isNamed() {
    return !places.isEmpty();
  }

  /** Notes the value of the pointers that end here. */
  void set(FieldValue[] found, FieldValue value) {
    for (int place : places) {
      found[place] = value;
    }
  }

  /** Forgets what was found here and below. */
  void clear(FieldValue[] found) {
    set(found, FieldValue.MISSING);
    for (Map.Entry<String, FieldNode> child : children.entrySet()) {
      child.getValue().clear(found);
    }
  }
}
